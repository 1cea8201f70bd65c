import { stripVTControlCharacters } from 'node:util'

/** Returns how many cells of a terminal a text takes. Colours take none. */
export function measureText(text: string): number {
  let width = 0
  for (const character of stripVTControlCharacters(text)) width += measureCharacter(character)
  return width
}

function measureCharacter(character: string): number {
  if (character < '\u0300') return 1
  if (zeroWidth.test(character)) return 0
  return doubleWidth.test(character) ? 2 : 1
}

/** Marks on the character before them, joiners and selectors of variants. */
const zeroWidth = /^[\p{Mn}\p{Me}\p{Cf}]$/u

/**
 * Characters of East Asian scripts in full width, and pictures.
 *
 * @see https://www.unicode.org/reports/tr11/
 */
const doubleWidth =
  /^(?:\p{Emoji_Presentation}|[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff01-\uff60\uffe0-\uffe6\u{20000}-\u{3fffd}])$/u

/** Cuts a text to a width, and marks the end with `…`. Its colours stay, and end where they ended. */
export function cutText(text: string, width: number): string {
  if (measureText(text) <= width) return text
  let left = width - 1
  let cut = ''
  let isCut = false
  for (const [at, part] of text.split(colourCode).entries()) {
    if (at % 2 === 1) {
      cut += part
      continue
    }
    if (isCut) continue
    for (const character of part) {
      left -= measureCharacter(character)
      isCut = left < 0
      if (isCut) break
      cut += character
    }
    if (isCut) cut += '…'
  }
  return cut
}

/** The sequences that start and end a colour. The group keeps them among the parts of a split text. */
const colourCode = /(\p{Cc}\[[\d;]*m)/u
