// What can be tested without a browser, for node.
export * from "./protocol";
export { Cutter } from "./stream";
export { History } from "./history";
export { Player } from "./player";
export { Pace } from "./pace";
export * from "./document";
