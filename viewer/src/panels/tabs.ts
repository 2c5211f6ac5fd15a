// SPDX-License-Identifier: MIT
// Tabs: plots, values, ledger, model. Arrow keys move between them.
import { byId } from "../dom";

const TABS = ["plots", "values", "ledger", "model"] as const;
export type Tab = (typeof TABS)[number];

export class Tabs {
  current: Tab = "plots";

  constructor(private readonly shown: (tab: Tab) => void) {
    for (const tab of TABS) {
      const button = byId(`tab-${tab}`);
      button.addEventListener("click", () => this.show(tab));
      button.addEventListener("keydown", (event) => {
        const by = event.key === "ArrowRight" ? 1 : event.key === "ArrowLeft" ? -1 : 0;
        if (by === 0) return;
        event.preventDefault();
        const next = TABS[(TABS.indexOf(tab) + by + TABS.length) % TABS.length];
        this.show(next);
        byId(`tab-${next}`).focus();
      });
    }
    this.show("plots");
  }

  show(tab: Tab): void {
    this.current = tab;
    for (const each of TABS) {
      byId(`tab-${each}`).setAttribute("aria-selected", String(each === tab));
      byId(`tab-${each}`).tabIndex = each === tab ? 0 : -1;
      byId(`panel-${each}`).hidden = each !== tab;
    }
    this.shown(tab);
  }
}

export function isTab(text: string): text is Tab {
  return (TABS as readonly string[]).includes(text);
}
