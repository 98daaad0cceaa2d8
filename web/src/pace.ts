// How fast pictures follow each other, and how finely they are drawn so that they follow fast enough. LEVELS: the part of the full resolution's sides, and the sides of the
// shadow map in texels, which nobody misses while things move.
//  - Down where the mean time between pictures is above LATE (fewer than 54 a second); a single long one is not enough. A display shows pictures at whole ticks, so that one
//    level may gain nothing and the next a tick: it goes on until they come in time.
//  - If all levels together made pictures no faster by a tenth, they were not the cause (a display of 30 Hz, a busy processor): back to where it began, and no new attempt for
//    WAIT, then twice that.
//  - A level up after CALM pictures that came faster than SOON (more than 57 a second); where it is undone at once, the next attempt takes twice as many.
// What stands still is drawn as finely as can be.
export const LEVELS = [
  { part: 1, shadow: 2048 }, { part: 1, shadow: 1024 }, { part: 0.8, shadow: 1024 }, { part: 0.65, shadow: 1024 }, { part: 0.5, shadow: 1024 },
] as const;
const LATE = 0.0185, SOON = 0.0175, IN_TIME = 1 / 60, LONG = 0.035; // s
const SETTLED = 15; // pictures until the mean tells of the new level
const CALM = 120, MOST_CALM = 3840; // pictures
const WAIT = 900, MOST_WAIT = 57600; // pictures
const GAIN = 0.9;

export class Pace {
  level = 0; // of LEVELS
  seconds = IN_TIME; // between pictures, of late
  private steady = IN_TIME; // the same at this level, with long ones cut
  private since = 0; // pictures at this level
  private before = 0; // seconds before it went down; 0 = it does not
  private from = 0; // level then
  private calm = CALM;
  private wait = WAIT;
  private patience = 0; // pictures without an attempt

  get part(): number { return LEVELS[this.level].part; }

  /* A picture came so many seconds after the one before. */
  picture(seconds: number): void {
    this.seconds += 0.12 * (Math.min(seconds, 0.25) - this.seconds);
    this.steady += 0.05 * (Math.min(seconds, LONG) - this.steady);
    this.since++;
    if (this.patience > 0) this.patience--;
    if (this.since < SETTLED) return;
    if (this.steady > LATE) this.goDown();
    else if (this.before > 0) this.before = 0; // in time again
    else if (this.seconds < SOON && this.since > this.calm && this.level > 0) this.go(this.level - 1);
  }

  private goDown(): void {
    if (this.patience > 0) return;
    if (this.before === 0) {
      if (this.level > 0 && this.since < 2 * SETTLED) this.calm = Math.min(2 * this.calm, MOST_CALM); // the level up was too early
      this.before = this.seconds;
      this.from = this.level;
    }
    if (this.level < LEVELS.length - 1) this.go(this.level + 1);
    else this.judge();
  }

  /* Late at the last level. */
  private judge(): void {
    const helped = this.from < this.level && this.seconds < GAIN * this.before;
    this.patience = this.wait;
    this.before = 0;
    if (helped) return;
    this.wait = Math.min(2 * this.wait, MOST_WAIT);
    this.go(this.from);
  }

  private go(level: number): void {
    this.level = level;
    this.since = 0;
    this.steady = IN_TIME;
  }
}
