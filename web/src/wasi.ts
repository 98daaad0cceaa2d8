// The part of WASI that the WebAssembly module needs: clocks and messages. There are no files, so that a scene that names one is refused with a message.
const BAD_FILE = 8, NO_ENTRY = 44, NOT_SUPPORTED = 52;

/* `memory` gives the module's memory, `say` gets the lines that it prints. */
export function wasi(memory: () => WebAssembly.Memory, say: (text: string) => void = (text) => console.error(text)): WebAssembly.ModuleImports {
  const view = () => new DataView(memory().buffer);
  let line = "";
  const write = (file: number, vectors: number, count: number, written: number) => {
    if (file !== 1 && file !== 2) return BAD_FILE;
    let size = 0;
    for (let i = 0; i < count; i++) {
      const from = view().getUint32(vectors + 8 * i, true), length = view().getUint32(vectors + 8 * i + 4, true);
      line += new TextDecoder().decode(new Uint8Array(memory().buffer, from, length).slice());
      size += length;
    }
    const lines = line.split("\n");
    line = lines.pop()!;
    for (const text of lines) say(text);
    view().setUint32(written, size, true);
    return 0;
  };
  const functions: WebAssembly.ModuleImports = {
    environ_get: () => 0,
    environ_sizes_get: (count: number, size: number) => (view().setUint32(count, 0, true), view().setUint32(size, 0, true), 0),
    clock_time_get: (_clock: number, _precision: bigint, result: number) => (view().setBigUint64(result, BigInt(Math.round(1e6 * performance.now())), true), 0),
    fd_write: write,
    sched_yield: () => 0,
    proc_exit: (status: number) => { throw new Error(`the module ended with status ${status}`); },
  };
  for (const name of ["fd_prestat_get", "fd_fdstat_get", "fd_close"]) functions[name] = () => BAD_FILE;
  for (const name of ["path_open", "path_filestat_get"]) functions[name] = () => NO_ENTRY;
  for (const name of ["fd_fdstat_set_flags", "fd_filestat_get", "fd_prestat_dir_name", "fd_read", "fd_seek", "path_create_directory", "path_remove_directory", "path_rename", "path_unlink_file"]) functions[name] = () => NOT_SUPPORTED;
  return functions;
}
