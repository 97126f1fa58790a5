import { createHash } from 'node:crypto'

/** A Lua script and the digest under which Redis stores it. */
export type Script = {
  readonly lua: string
  readonly sha1: string
}

export function createScript(...parts: readonly string[]): Script {
  const lua = parts.join('\n')
  return { lua, sha1: createHash('sha1').update(lua).digest('hex') }
}
