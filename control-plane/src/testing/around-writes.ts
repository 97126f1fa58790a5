import type { HotState } from '@tollgate/platform/hot-state/hot-state'

const writes: ReadonlySet<string | symbol> = new Set([
  'putDocument',
  'deleteDocument',
  'putEntry',
  'putEntries',
])

/** Wraps the real hot state: `around` is called instead of each write of a publisher, and decides whether to run the write. */
export function hookWrites(
  hotState: HotState,
  around: (runWrite: () => Promise<void>, given: readonly unknown[]) => Promise<void>,
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
