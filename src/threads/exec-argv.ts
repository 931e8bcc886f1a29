/** Node options for threads that are given none of their own. */

/**
 * `undefined` leaves it to Node, which hands on what a thread can have; a list of our own must not hold anything else, such as V8's
 * options. Only a program given on the command line needs one: with `--input-type` and `-e`, no thread would start. What is about
 * loading modules is then kept.
 */
export function inheritedExecArgv(given: readonly string[] = process.execArgv): string[] | undefined {
  if (!given.some((option) => ABOUT_INPUT.test(option))) return undefined;
  return given.filter((option, index) => {
    const before = given[index - 1] ?? '';
    return ABOUT_LOADING.test(option) || (TAKES_A_VALUE.test(before) && !option.startsWith('-'));
  });
}

const ABOUT_INPUT = /^(-e|--eval|-p|--print|-pe|--input-type)(=|$)/;
const ABOUT_LOADING =
  /^(-r|--require|--import|--loader|--experimental-loader|-C|--conditions|--no-warnings|--enable-source-maps)(=|$)/;
const TAKES_A_VALUE = /^(-r|--require|--import|--loader|--experimental-loader|-C|--conditions)$/;
