// Light or dark: as the system has it, or as the reader chose.

import { readTheme, type Theme, writeItem } from "./memory.ts";

export class ThemeSwitch {
  theme: Theme = readTheme();
  private readonly systemIsDark = matchMedia("(prefers-color-scheme: dark)");

  constructor(private readonly onChange: () => void) {
    this.systemIsDark.addEventListener("change", () => this.show());
    this.show();
  }

  set(theme: Theme): void {
    this.theme = theme;
    writeItem("folioreel:theme", theme);
    this.show();
  }

  private show(): void {
    const isDark = this.theme === "dark" || (this.theme === "system" && this.systemIsDark.matches);
    document.documentElement.dataset.theme = isDark ? "dark" : "light";
    this.onChange();
  }
}
