/** What stands for "no limit" of memory and swap, which Podman's create call cannot say. */
export const unlimitedSwapBytes = 2 ** 62;
