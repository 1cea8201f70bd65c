import { useSignal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import { useLayoutEffect, useRef } from 'preact/hooks'

export interface DialogProps {
  readonly title: string
  /** The word on the button that submits the form. */
  readonly action: string
  /** Rejects with what to show; the dialog then stays open. */
  readonly submit: (form: FormData) => Promise<void>
  readonly close: () => void
  /** Set when `submit` opens the next dialog itself. */
  readonly isFollowed?: boolean
  /** Set for an action that cannot be taken back. */
  readonly isDangerous?: boolean
  readonly children?: ComponentChildren
}

/** A form in a modal dialog. The browser keeps the focus inside, and Escape closes it. */
export function Dialog({
  title,
  action,
  submit,
  close,
  isFollowed = false,
  isDangerous = false,
  children,
}: DialogProps) {
  const dialog = useRef<HTMLDialogElement>(null)
  const problem = useSignal<string | undefined>(undefined)
  const isBusy = useSignal(false)
  // Before the next key press: what is typed at once belongs to the dialog.
  useLayoutEffect(() => dialog.current?.showModal(), [])
  const onSubmit = async (event: SubmitEvent) => {
    event.preventDefault()
    isBusy.value = true
    try {
      await submit(new FormData(event.currentTarget as HTMLFormElement))
      if (!isFollowed) close()
    } catch (error) {
      problem.value = error instanceof Error ? error.message : String(error)
    }
    isBusy.value = false
  }
  return (
    <dialog ref={dialog} onClose={close} aria-labelledby="dialog-title">
      <form onSubmit={onSubmit}>
        <h2 id="dialog-title">{title}</h2>
        {children}
        {problem.value !== undefined && (
          <p class="problem" role="alert">
            {problem}
          </p>
        )}
        <div class="buttons">
          <button type="button" class="quiet" onClick={close}>
            Cancel
          </button>
          <button
            type="submit"
            class={isDangerous ? 'primary dangerous' : 'primary'}
            disabled={isBusy}
          >
            {action}
          </button>
        </div>
      </form>
    </dialog>
  )
}
