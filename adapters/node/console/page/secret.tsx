import { useSignal } from '@preact/signals'
import { useLayoutEffect, useRef } from 'preact/hooks'
import type { KeyWithSecret } from './shapes.ts'

interface SecretProps {
  readonly created: KeyWithSecret
  readonly close: () => void
}

/** Shows the secret of a key. It is nowhere else: the gateway keeps only its digest. */
export function Secret({ created: { name, key }, close }: SecretProps) {
  const dialog = useRef<HTMLDialogElement>(null)
  const isCopied = useSignal(false)
  // Before the next key press: what is typed at once belongs to the dialog.
  useLayoutEffect(() => dialog.current?.showModal(), [])
  const copy = async () => {
    await navigator.clipboard.writeText(key)
    isCopied.value = true
  }
  return (
    <dialog ref={dialog} onClose={close} aria-labelledby="secret-title">
      <h2 id="secret-title">Secret of {name}</h2>
      <p>Copy it now. It is not shown again.</p>
      <input class="secret" aria-label="Secret" readOnly value={key} onFocus={selectAll} />
      <div class="buttons">
        <button type="button" class="quiet" onClick={copy}>
          {isCopied.value ? 'Copied' : 'Copy'}
        </button>
        <button type="button" class="primary" onClick={close} autofocus>
          Done
        </button>
      </div>
    </dialog>
  )
}

function selectAll({ currentTarget }: FocusEvent): void {
  ;(currentTarget as HTMLInputElement).select()
}
