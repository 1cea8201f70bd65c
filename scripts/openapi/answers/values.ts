import * as z from 'zod'
import { errorTable } from '../../../src/core/errors.ts'

export const count = z.int().nonnegative()
export const time = z.int().describe('Unix seconds.')
export const usd = z.number().describe('US dollars.')
export const text = z.string()
export const code = z.enum(Object.keys(errorTable))
export const requestId = z.string()
