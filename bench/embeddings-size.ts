/** What is asked for in one request. */
export const items = 2048
export const dimensions = 1536

/** Enough for the compiler, too little for memory to grow. */
export const warmUpItems = 32
