import { isPlainObject, type JsonObject } from './json-object.ts'
import { referenceCharsMax } from './limits.ts'

/*
 * A property of an event is the name of a top-level member, or a JSON pointer (RFC 6901) if it starts with `/`.
 */

/** The names and indexes from the top of an object to one of its values. */
export type PropertyPath = readonly string[]

/** `~` must be followed by 0 or 1, which stand for `~` and `/`. */
const pointerPattern = /^(?:\/(?:[^~/]|~[01])*)+$/

/** Returns whether the text is a JSON pointer to a part of a value. The empty pointer, which is the value itself, is not. */
export function isPointer(text: string): boolean {
  return text.length <= referenceCharsMax && pointerPattern.test(text)
}

export function isProperty(text: string): boolean {
  if (text.startsWith('/')) return isPointer(text)
  // The name becomes a key of an object, and this one would set the object's prototype.
  return text.length > 0 && text.length <= referenceCharsMax && text !== '__proto__'
}

/** Returns the path of a valid property. */
export function pathOfProperty(property: string): PropertyPath {
  if (!property.startsWith('/')) return [property]
  return property
    .slice(1)
    .split('/')
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'))
}

const indexPattern = /^(?:0|[1-9]\d*)$/

/** Returns the value at the path, or undefined if there is none. Inherited members do not exist. */
export function valueAt(object: JsonObject, path: PropertyPath): unknown {
  let value: unknown = object
  for (const part of path) {
    if (Array.isArray(value)) {
      if (!indexPattern.test(part)) return undefined
      value = (value as readonly unknown[])[Number(part)]
    } else {
      if (!isPlainObject(value) || !Object.hasOwn(value, part)) return undefined
      value = value[part]
    }
  }
  return value
}
