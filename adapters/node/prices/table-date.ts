/** The day of the table of prices, which `npm run prices` writes. */
export const tableDate = '2026-11-28'
