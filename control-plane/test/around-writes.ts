import type { HotState } from '@tollgate/platform/hot-state/hot-state'

const writes: ReadonlySet<string | symbol> = new Set([
  'putDocument',
  'deleteDocument',
  'putEntry',
  'putEntries',
])

/** The real hot state, with `around` in the place of each write of a publisher; it carries the write out, or does not. */
export function aroundWrites(
  hotState: HotState,
  around: (carryOut: () => Promise<void>, given: readonly unknown[]) => Promise<void>,
): HotState {
  return new Proxy(hotState, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name)
      if (typeof value !== 'function') return value
      const call = value.bind(target) as (...given: unknown[]) => Promise<void>
      if (!writes.has(name)) return call
      return (...given: unknown[]) => around(() => call(...given), given)
    },
  })
}
