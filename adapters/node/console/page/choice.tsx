import { show } from './place.ts'

interface ChoiceProps {
  readonly name: string
  /** Of the address. */
  readonly parameter: string
  /** Undefined for the first of the choices. */
  readonly value: string | undefined
  /** What the first choice is called; it leaves the parameter out of the address. */
  readonly first: string
  readonly choices: readonly (readonly [value: string, name: string])[]
}

/** A select whose choice is in the address. A list begins at its first page again. */
export function Choice({ name, parameter, value, first, choices }: ChoiceProps) {
  return (
    <label>
      {name}{' '}
      <select
        value={value ?? ''}
        onChange={({ currentTarget }) =>
          show({ [parameter]: currentTarget.value, page: undefined })
        }
      >
        <option value="">{first}</option>
        {choices.map(([id, title]) => (
          <option key={id} value={id}>
            {title}
          </option>
        ))}
      </select>
    </label>
  )
}
