// Images and videos for the user, and film mode, in which the program requests each image at its own pace.
import { encodePicture, type Film } from "./protocol";

export function download(blob: Blob, name: string): void {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

/* The canvas is cleared after each draw, so it is drawn and read at once. */
export function picture(canvas: HTMLCanvasElement, draw: () => void): Promise<Blob> {
  return new Promise((done, fail) => {
    draw();
    canvas.toBlob((blob) => (blob ? done(blob) : fail(new Error("the browser returned no image"))), "image/png");
  });
}

/* Records what the page shows to a video file. */
export class Video {
  private recorder: MediaRecorder | null = null;
  private chunks: Blob[] = [];

  get running(): boolean { return this.recorder !== null; }

  start(canvas: HTMLCanvasElement): void {
    const type = ["video/mp4;codecs=avc1.640028", "video/webm;codecs=vp9", "video/webm"].find((t) => MediaRecorder.isTypeSupported(t));
    if (!type) throw new Error("this browser cannot record video");
    this.chunks = [];
    this.recorder = new MediaRecorder(canvas.captureStream(60), { mimeType: type, videoBitsPerSecond: 12e6 });
    this.recorder.ondataavailable = (event) => this.chunks.push(event.data);
    this.recorder.start(1000);
  }

  stop(name: string): Promise<void> {
    const recorder = this.recorder;
    this.recorder = null;
    if (!recorder) return Promise.resolve();
    return new Promise((done) => {
      recorder.onstop = () => {
        download(new Blob(this.chunks, { type: recorder.mimeType }), `${name}.${recorder.mimeType.includes("mp4") ? "mp4" : "webm"}`);
        done();
      };
      recorder.stop();
    });
  }
}

/* Times of the images of a film, s in the recording. */
export function filmMoments(begin: number, end: number, { rate, speed }: Film): number[] {
  const count = Math.max(1, Math.floor(((end - begin) * rate) / speed + 1e-6) + 1);
  return Array.from({ length: count }, (_, k) => Math.min(begin + (k * speed) / rate, end));
}

/* Sends all images, each after the previous one was TAKEN. */
export async function shootFilm(moments: number[], shoot: (time: number) => Promise<Blob>, send: (message: ArrayBuffer) => void, taken: () => Promise<void>): Promise<void> {
  for (let k = 0; k < moments.length; k++) {
    const png = new Uint8Array(await (await shoot(moments[k])).arrayBuffer());
    const wait = taken();
    send(encodePicture(k, moments.length, png));
    await wait;
  }
}
