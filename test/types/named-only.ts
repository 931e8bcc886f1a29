/** A handler module without a default export. */
export const only = () => 1;
