import { z } from 'zod'
import { nearestName } from '../nearest-name.ts'

/** Returns a schema that refuses unknown fields. Its message names each of them and the closest known field. */
export function strictBody<Shape extends z.core.$ZodLooseShape>(shape: Shape) {
  const known = Object.keys(shape)
  return z.strictObject(shape, {
    error: (issue) =>
      issue.code === 'unrecognized_keys' ? unknownFieldsText(issue.keys, known) : undefined,
  })
}

/** Characters of a field name that a message quotes, so that a hostile name is not returned completely. */
const nameCharsMax = 64
const namesMax = 10

function unknownFieldsText(names: readonly string[], known: readonly string[]): string {
  return names
    .slice(0, namesMax)
    .map((name) => {
      const nearest = nearestName(name, known)
      const hint = nearest === undefined ? '' : ` Did you mean \`${nearest}\`?`
      return `Unknown field \`${name.slice(0, nameCharsMax)}\`.${hint}`
    })
    .join(' ')
}
