/** The size of one request. */
export const items = 2048
export const dimensions = 1536

/** The size of a warm-up request: enough to compile, too small to grow memory. */
export const warmUpItems = 32
