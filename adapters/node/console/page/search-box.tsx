import { place, showQuietly } from './place.ts'

/** A box for a part of a name. The address has the text as `q`, and a list begins at its first page again. */
export function SearchBox({ placeholder }: { readonly placeholder: string }) {
  return (
    <label class="search">
      <span class="visually-hidden">Search</span>
      <input
        type="search"
        placeholder={placeholder}
        value={place.value.query.get('q') ?? ''}
        onInput={({ currentTarget }) => showQuietly({ q: currentTarget.value, page: undefined })}
      />
    </label>
  )
}

/** Whether one of the texts has what is searched for, in any case of letters. */
export function isFound(...texts: readonly (string | null | undefined)[]): boolean {
  const wanted = place.value.query.get('q')?.trim().toLowerCase() ?? ''
  return wanted === '' || texts.some((text) => text?.toLowerCase().includes(wanted))
}
