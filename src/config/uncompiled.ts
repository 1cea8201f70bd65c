/** For a parse that happens once: compiling the schema, as zod does, would take longer than the parse. */
export const uncompiled = { jitless: true } as const
