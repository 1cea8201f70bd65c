import { useSignal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import { useEffect, useId, useRef } from 'preact/hooks'

interface MenuProps {
  /** What the button is called for those who do not see it. */
  readonly label: string
  /** Buttons and links. */
  readonly children: ComponentChildren
}

/** Less than the height of any menu, so that one near the lower edge opens upwards. */
const minRoom = 240

/** A button that opens a list of actions over the page. Escape and a click elsewhere close it. */
export function Menu({ label, children }: MenuProps) {
  const id = useId()
  const isOpen = useSignal(false)
  const opener = useRef<HTMLButtonElement>(null)
  const list = useRef<HTMLDivElement>(null)
  const close = () => list.current?.hidePopover()
  const follow = () => {
    if (opener.current && list.current) place(list.current, opener.current.getBoundingClientRect())
  }
  const onToggle = ({ newState }: Pick<ToggleEvent, 'newState'>) => {
    isOpen.value = newState === 'open'
    if (isOpen.value) list.current?.querySelector<HTMLElement>('button, a')?.focus()
  }
  useEffect(() => {
    if (!isOpen.value) return undefined
    // Also what scrolls inside the page moves the button.
    const options = { capture: true, passive: true }
    addEventListener('scroll', follow, options)
    addEventListener('resize', follow, options)
    return () => {
      removeEventListener('scroll', follow, options)
      removeEventListener('resize', follow, options)
    }
  }, [isOpen.value])
  return (
    <>
      <button
        ref={opener}
        type="button"
        class="ghost"
        popovertarget={id}
        aria-expanded={isOpen}
        aria-label={label}
        title="More actions"
      >
        <span aria-hidden="true">⋯</span>
      </button>
      <div
        ref={list}
        id={id}
        class="menu"
        popover="auto"
        onBeforeToggle={follow}
        onToggle={onToggle}
        onClick={close}
      >
        {children}
      </div>
    </>
  )
}

/** Places the list at the right end of its button, below it or above it. */
function place({ style }: HTMLElement, { right, top, bottom }: DOMRect): void {
  const fitsBelow = innerHeight - bottom >= minRoom
  style.right = `${document.documentElement.clientWidth - right}px`
  style.top = fitsBelow ? `${bottom + 4}px` : 'auto'
  style.bottom = fitsBelow ? 'auto' : `${innerHeight - top + 4}px`
}
