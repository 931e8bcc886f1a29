/** Tells what its thread was given. */
export default () => ({ mill: process.env.MILL, execArgv: process.execArgv });
