/** Node options for threads. */

/** Those of the process, without what makes no sense for a thread: after `node --input-type=module -e "…"` none would start. */
export function inheritedExecArgv(): string[] {
  return process.execArgv.filter((option, index, all) => {
    const before = all[index - 1] ?? '';
    return !ABOUT_INPUT.test(option) && !(ABOUT_INPUT.test(before) && !before.includes('='));
  });
}

const ABOUT_INPUT = /^(-e|--eval|-p|--print|-pe|--input-type)(=|$)/;
