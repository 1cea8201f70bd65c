import { useSignal } from '@preact/signals'
import { useId } from 'preact/hooks'
import { useAnswer } from './answer.ts'
import { findUnknown, splitModels } from './model-lists.ts'
import type { ModelReports, RouteReport } from './shapes.ts'

interface ModelFieldProps {
  readonly value: string | undefined
}

/** The field of the models that a key or group may use. It names those that do not exist, and takes them all the same. */
export function ModelField({ value }: ModelFieldProps) {
  const id = useId()
  const text = useSignal(value ?? '')
  const known = useKnownModels()
  const unknown = known ? findUnknown(splitModels(text.value), known) : []
  return (
    <label>
      Models
      <input
        name="models"
        placeholder="all; or for example gpt-*, claude-opus"
        defaultValue={value}
        autocomplete="off"
        spellcheck={false}
        aria-describedby={id}
        onInput={({ currentTarget }) => (text.value = currentTarget.value)}
      />
      <span id={id} class="hint warning" role="status">
        {unknown.length > 0 && `No model or route is called ${unknown.join(', ')}.`}
      </span>
    </label>
  )
}

/** Returns the ids of models and routes, and the patterns; undefined while they are not known. */
function useKnownModels(): string[] | undefined {
  const { value: reports } = useAnswer<ModelReports>('/admin/models')
  const { value: routes } = useAnswer<{ routes: readonly RouteReport[] }>('/admin/routes')
  if (!reports || !routes) return undefined
  return [...reports.models, ...reports.discovered, ...routes.routes].map(({ id }) => id)
}
