import { type Figure, zero } from '../part.ts'
import type { Books } from './books.ts'
import type { SeenRequest } from './load.ts'

/** What must hold of the books after every part. */
export function bookFigures(books: Books, seen: readonly SeenRequest[]): Figure[] {
  const count = (end: SeenRequest['end']) => seen.filter((request) => request.end === end).length
  return [
    { title: 'answers that a client saw to their end', value: count('answered') },
    { title: 'refusals for a spent budget', value: count('refused') },
    { title: 'requests that were cut off', value: count('cut') },
    { title: 'of these charged: the client did not read the end', value: books.chargedCuts },
    zero('other errors', count('failed')),
    zero('answers without a row', books.missing),
    { title: 'refusals without a row', value: books.missingRefusals },
    zero('requests with more than one row', books.doubled),
    zero('rows with another cost than the answer', books.wrong),
    zero('rows of requests that were not sent', books.unknown),
    zero('nano-dollars between spend and rows', books.difference),
    zero('budgets over their cap', books.overCap),
    {
      title: 'the database is intact',
      value: books.isIntact ? 'yes' : 'no',
      holds: books.isIntact,
    },
  ]
}

/** What must hold once all requests have ended. */
export function heldFigures({
  requests,
  dollars,
}: {
  requests: number
  dollars: number
}): Figure[] {
  return [
    zero('requests that still count as running', requests),
    zero('US dollars still reserved', dollars),
  ]
}
