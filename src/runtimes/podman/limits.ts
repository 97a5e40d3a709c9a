/** Means "no limit" of memory and swap, which Podman's create call cannot express. */
export const unlimitedSwapBytes = 2 ** 62;
