/// <reference lib="es2024.string" />
import { jsonObjectBytesMax, jsonObjectDepthMax, jsonObjectKeysMax } from './limits.ts'

/** A free-form object of a client: `properties`, `metadata`, `config`, `features`, `limits`. */
export type JsonObject = { readonly [key: string]: unknown }

/** Keys that could change a prototype when code copies the object carelessly. */
const forbiddenKeys: ReadonlySet<string> = new Set(['__proto__', 'constructor', 'prototype'])

/**
 * Returns whether every part can store the text. It must not contain lone surrogates, which have no UTF-8 form, or U+0000, which
 * PostgreSQL refuses.
 */
export function isStorableText(text: string): boolean {
  return text.isWellFormed() && !text.includes('\0')
}

/** Returns why the value is not a valid free-form object, or undefined if it is. Recursion is bounded by the depth limit. */
export function faultOfJsonObject(value: unknown): string | undefined {
  if (!isPlainObject(value)) return 'Expected an object'
  if (Object.keys(value).length > jsonObjectKeysMax) {
    return `At most ${jsonObjectKeysMax} keys are allowed`
  }
  const walk: Walk = { bytesAtMost: 0 }
  const fault = faultOfObject(value, 1, walk)
  if (fault !== undefined) return fault
  // Encoding is expensive, and the estimate avoids it for all but large objects.
  if (walk.bytesAtMost <= jsonObjectBytesMax) return undefined
  if (Buffer.byteLength(JSON.stringify(value)) > jsonObjectBytesMax) {
    return `At most ${jsonObjectBytesMax} bytes of JSON are allowed`
  }
  return undefined
}

/** Returns whether the value is an object with named members, of any depth and size. */
export function isPlainObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

type Walk = {
  /** An upper bound of the encoded size in bytes. */
  bytesAtMost: number
}

/** A character has at most 6 bytes in JSON: `\u0001`. */
const bytesPerCharMax = 6
/** Bytes for quotes, colon, comma and brackets, or for the longest number. */
const bytesPerValueMax = 32

function faultOfObject(value: JsonObject, depth: number, walk: Walk): string | undefined {
  if (depth > jsonObjectDepthMax) return `At most ${jsonObjectDepthMax} levels are allowed`
  for (const key of Object.keys(value)) {
    if (forbiddenKeys.has(key)) return `The key ${key} is not allowed`
    const fault = faultOfText(key, walk) ?? faultOfValue(value[key], depth, walk)
    if (fault !== undefined) return fault
  }
  return undefined
}

function faultOfValue(value: unknown, depth: number, walk: Walk): string | undefined {
  walk.bytesAtMost += bytesPerValueMax
  switch (typeof value) {
    case 'string':
      return faultOfText(value, walk)
    case 'number':
      return Number.isFinite(value) ? undefined : 'Numbers must be finite'
    case 'boolean':
    case 'undefined':
      return undefined
    case 'object':
      return faultOfContainer(value, depth, walk)
    default:
      return 'Expected JSON values only'
  }
}

function faultOfContainer(value: object | null, depth: number, walk: Walk): string | undefined {
  if (value === null) return undefined
  if (!Array.isArray(value)) return faultOfObject(value as JsonObject, depth + 1, walk)
  if (depth + 1 > jsonObjectDepthMax) return `At most ${jsonObjectDepthMax} levels are allowed`
  for (const item of value as readonly unknown[]) {
    const fault = faultOfValue(item, depth + 1, walk)
    if (fault !== undefined) return fault
  }
  return undefined
}

function faultOfText(text: string, walk: Walk): string | undefined {
  walk.bytesAtMost += text.length * bytesPerCharMax
  return isStorableText(text) ? undefined : 'Text must be well-formed Unicode without U+0000'
}
