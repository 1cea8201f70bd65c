import type { Figure } from '../part.ts'
import { readHeld } from './accounts.ts'
import { readBooks } from './books.ts'
import { bookFigures, heldFigures } from './figures.ts'
import type { ProvedGateway } from './gateway.ts'
import type { Load } from './load.ts'

export interface Ended {
  /** The gateways of one database: all show the same accounts. */
  readonly gateways: readonly [ProvedGateway, ...ProvedGateway[]]
  /** It is stopped. */
  readonly load: Load
  /** The file of the database. */
  readonly path: string
}

/** Stops the gateways, and returns what must hold of their books. */
export async function endGateways({ gateways, load, path }: Ended): Promise<readonly Figure[]> {
  const held = await readHeld(gateways[0])
  for (const gateway of gateways) await gateway.stop()
  return [...bookFigures(readBooks(path, load.seen), load.seen), ...heldFigures(held)]
}

/** Returns how many rows the gateways have found in journals. */
export function recoveredFigure(gateways: readonly ProvedGateway[]): Figure {
  const value = gateways
    .flatMap((gateway) => gateway.logLines('has left in its journal'))
    .reduce((sum, { rows }) => sum + Number(rows), 0)
  return { title: 'rows that were only in the journal', value, holds: value > 0 }
}
