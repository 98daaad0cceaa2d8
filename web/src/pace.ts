// Adapts the image to the frame rate. LEVELS: the fraction of the full resolution along each side, the size of the shadow map in texels, and whether there is ambient occlusion.
//  - Down if the mean time between frames is above LATE (below 54 frames per second); a single long frame is not enough. A display shows frames at whole refresh intervals, so
//    that one level may gain nothing and the next one an interval: the reduction continues until frames are in time.
//  - If all levels together gain less than a tenth, resolution was not the cause (a 30 Hz display, a busy processor): back to the first level, and no new attempt for
//    WAIT, then twice that.
//  - Up after CALM frames faster than SOON (above 57 frames per second); if that is undone at once, the next attempt takes twice as many frames.
// A scene at rest is drawn at full resolution.
export const LEVELS = [
  { part: 1, shadow: 2048, occlusion: true }, { part: 1, shadow: 2048, occlusion: false }, { part: 1, shadow: 1024, occlusion: false },
  { part: 0.8, shadow: 1024, occlusion: false }, { part: 0.65, shadow: 1024, occlusion: false }, { part: 0.5, shadow: 1024, occlusion: false },
] as const;
const LATE = 0.0185, SOON = 0.0175, IN_TIME = 1 / 60, LONG = 0.035; // s
const SETTLED = 15; // frames until the mean reflects the new level
const CALM = 120, MOST_CALM = 3840; // frames
const WAIT = 900, MOST_WAIT = 57600; // frames
const GAIN = 0.9;

export class Pace {
  level = 0; // of LEVELS
  seconds = IN_TIME; // between the last frames
  private steady = IN_TIME; // the same at this level, with long ones clipped
  private since = 0; // frames at this level
  private before = 0; // seconds before it went down; 0 = it is not going down
  private from = 0; // level then
  private calm = CALM;
  private wait = WAIT;
  private patience = 0; // frames without an attempt

  get part(): number { return LEVELS[this.level].part; }
  get occlusion(): boolean { return LEVELS[this.level].occlusion; }

  /* Called for each frame, with the seconds since the previous one. */
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
