// Dark or light: what the system prefers, until the button is used.
const KEY = "drystone-theme";

export class Theme {
  private readonly system = window.matchMedia("(prefers-color-scheme: light)");

  private chosen = stored();

  constructor(private readonly changed: (light: boolean) => void) {
    this.system.addEventListener("change", () => this.apply());
    this.apply();
  }

  get light(): boolean {
    return this.chosen ? this.chosen === "light" : this.system.matches;
  }

  toggle(): void {
    this.chosen = this.light ? "dark" : "light";
    try { localStorage.setItem(KEY, this.chosen); } catch { /* not available to a page opened from a folder */ }
    this.apply();
  }

  private apply(): void {
    document.documentElement.dataset.theme = this.light ? "light" : "dark";
    this.changed(this.light);
  }
}

function stored(): string | null {
  try { return localStorage.getItem(KEY); } catch { return null; }
}
