import { signal } from '@preact/signals'

const storageName = 'token'

/** The token of the session, which this tab keeps over a reload; undefined while it is logged out. */
export const token = signal(sessionStorage.getItem(storageName) ?? undefined)

/** Keeps the token that the code was exchanged for; undefined logs out. */
export function keepToken(value: string | undefined): void {
  token.value = value
  if (value === undefined) sessionStorage.removeItem(storageName)
  else sessionStorage.setItem(storageName, value)
}
