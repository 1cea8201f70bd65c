import { useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'

interface Row {
  readonly id: number | string
}

export interface HeldRows<Shown> {
  readonly shown: readonly Shown[]
  /** The rows that came while the list was held. */
  readonly waiting: number
  readonly showWaiting: () => void
}

/** Keeps new rows off the top of a list, newest first, while it is read: what is below them would move. */
export function useHeldRows<Shown extends Row>(
  rows: readonly Shown[],
  isReading: boolean,
): HeldRows<Shown> {
  // The newest row when the reading began.
  const held = useSignal<Shown['id'] | undefined>(undefined)
  const newest = rows[0]?.id
  useEffect(() => {
    held.value = isReading ? newest : undefined
  }, [isReading])
  const at = isReading ? rows.findIndex(({ id }) => id === held.value) : 0
  const shown = at > 0 ? rows.slice(at) : rows
  return {
    shown,
    waiting: rows.length - shown.length,
    showWaiting: () => (held.value = newest),
  }
}

/** A page that is scrolled further than this is being read, in CSS pixels. */
const readingPx = 160

/** Whether the page is scrolled away from its top. */
export function useIsScrolled(): boolean {
  const isScrolled = useSignal(scrollY > readingPx)
  useEffect(() => {
    const follow = () => (isScrolled.value = scrollY > readingPx)
    addEventListener('scroll', follow, { passive: true })
    return () => removeEventListener('scroll', follow)
  }, [])
  return isScrolled.value
}
