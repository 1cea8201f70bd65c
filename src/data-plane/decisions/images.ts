import type { DecisionForm } from '../../core/decisions.ts'
import { isObject, type JsonObject } from '../../wire/json/parse.ts'

/** An image of a request. */
export interface DecisionImage {
  /** As a dotted path. */
  readonly path: string
  readonly detail: string | undefined
  /** The length of its address among the texts of the prompt; 0 where it is beside them. */
  readonly textLength: number
}

/** Lists the images of a request, in order. */
export function listImages(body: JsonObject, form: DecisionForm): readonly DecisionImage[] {
  switch (form) {
    case 'openai':
      return listParts(body)
    case 'typesafe':
      return [...listMembers(body['images'], 'images'), ...listMembers(body['assets'], 'assets')]
    default:
      return form satisfies never
  }
}

/** Images may be in messages, in the outputs of tools and in instructions. What `input_json` holds is data. */
function listParts(body: JsonObject): readonly DecisionImage[] {
  const found: DecisionImage[] = []
  const visit = (value: object, path: string) => {
    if (isObject(value)) {
      if (value['type'] === 'input_json') return
      if (value['type'] === 'input_image') {
        found.push(toImage(value, path))
        return
      }
    }
    for (const [name, member] of Object.entries(value)) {
      if (typeof member === 'object' && member !== null) visit(member, `${path}.${name}`)
    }
  }
  for (const name of ['input', 'questions'] as const) {
    const value = body[name]
    if (typeof value === 'object' && value !== null) visit(value, name)
  }
  return found
}

function toImage({ image_url: url, detail }: JsonObject, path: string): DecisionImage {
  return {
    path: `${path}.image_url`,
    detail: typeof detail === 'string' ? detail : undefined,
    textLength: typeof url === 'string' ? url.length : 0,
  }
}

/** Each item of a list, or each member of an object, is one image. */
function listMembers(images: unknown, path: string): readonly DecisionImage[] {
  if (typeof images !== 'object' || images === null) return []
  return Object.keys(images).map((name) => ({
    path: `${path}.${name}`,
    detail: undefined,
    textLength: 0,
  }))
}
