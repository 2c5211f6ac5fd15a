// SPDX-License-Identifier: MIT
// Small help with the page's elements. Text always goes in as text, never as markup.

type Child = Node | string;

/// An element with a class, properties and children: make("button", "small", { title: "..." }, "text").
export function make<K extends keyof HTMLElementTagNameMap>(
  tag: K, className = "", properties: Partial<HTMLElementTagNameMap[K]> = {}, ...children: Child[]
): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  if (className !== "") element.className = className;
  Object.assign(element, properties);
  element.append(...children);
  return element;
}

/// An element of the page by its id.
export function byId<T extends HTMLElement = HTMLElement>(id: string): T {
  const element = document.getElementById(id);
  if (element === null) throw new Error(`the page has no element '${id}'`);
  return element as T;
}

/// Offer data as a file.
export function saveFile(name: string, data: Blob): void {
  const link = make("a", "", { href: URL.createObjectURL(data), download: name });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}

/// A name that every file system takes.
export function fileName(text: string, ending: string): string {
  const plain = text.normalize("NFKD").replace(/[^A-Za-z0-9._-]+/g, "-").replace(/^[-.]+|[-.]+$/g, "").slice(0, 60);
  return `${plain === "" ? "holonom" : plain}.${ending}`;
}
