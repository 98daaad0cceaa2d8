// How fast pictures follow each other, and with how many pixels they are drawn so that they follow fast enough: STEPS are parts of the full resolution's sides.
//  - A step down where the mean time between pictures is above LATE (fewer than 50 a second).
//  - If that made pictures no faster by a tenth, pixels were not the cause (a display of 30 Hz, a busy processor): a step up again, and no new attempt for WAIT.
//  - A step up after CALM pictures that came faster than SOON (more than 57 a second); where it is undone at once, the next attempt takes twice as many.
// What stands still is drawn with all pixels.
export const STEPS = [1, 0.8, 0.65, 0.5];
const LATE = 0.02, SOON = 0.0175; // s
const SETTLED = 15; // pictures until the mean tells of the new step
const CALM = 120, MOST_CALM = 3840; // pictures
const WAIT = 600; // pictures
const GAIN = 0.9;

export class Pace {
  step = 0; // of STEPS
  seconds = 1 / 60; // between pictures, of late
  private since = 0; // pictures at this step
  private before = 0; // seconds before the step down; 0 = it has been judged
  private calm = CALM;
  private patience = 0; // pictures without an attempt

  get part(): number { return STEPS[this.step]; }

  /* A picture came so many seconds after the one before. */
  picture(seconds: number): void {
    this.seconds += 0.12 * (Math.min(seconds, 0.25) - this.seconds);
    this.since++;
    if (this.patience > 0) this.patience--;
    if (this.since < SETTLED) return;
    if (this.before > 0) this.judge();
    else if (this.seconds > LATE) this.goDown();
    else if (this.seconds < SOON && this.since > this.calm && this.step > 0) this.go(-1);
  }

  private judge(): void {
    const helped = this.seconds < GAIN * this.before;
    this.before = 0;
    if (helped) return;
    this.patience = WAIT;
    this.go(-1);
  }

  private goDown(): void {
    if (this.patience > 0 || this.step === STEPS.length - 1) return;
    if (this.since < 2 * SETTLED) this.calm = Math.min(2 * this.calm, MOST_CALM); // the step up was too early
    this.before = this.seconds;
    this.go(1);
  }

  private go(by: number): void {
    this.step += by;
    this.since = 0;
  }
}
