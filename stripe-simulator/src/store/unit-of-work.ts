import { randomInt } from 'node:crypto'
import { missing } from '../errors.ts'
import type { Kind, Mode, Records } from './records.ts'
import type { KeyValueStore } from './key-value-store.ts'

/** An action that is executed when its time has come. */
export type DueAction =
  | { readonly do: 'settle_payment'; readonly id: string; readonly isPaid: boolean }
  | { readonly do: 'end_refund'; readonly id: string; readonly status: 'succeeded' | 'failed' }
  | { readonly do: 'make_available'; readonly id: string }
  | { readonly do: 'move_payout'; readonly id: string; readonly status: 'in_transit' | 'paid' }

/** A delivery of an event to an endpoint. */
export type Delivery = {
  readonly event: string
  readonly endpoint: string
  /** Number of failed attempts. */
  readonly attempts: number
}

export type DueDelivery = Delivery & { readonly mode: Mode; readonly key: string }

export type UnitOfWorkOptions = {
  readonly store: KeyValueStore
  readonly mode: Mode
  readonly nowMs: number
  /** The API request that causes the changes, which is part of its events. */
  readonly request?: { readonly id: string; readonly idempotencyKey: string | undefined }
}

/**
 * The objects of one mode as one request reads and changes them. Nothing is stored before `commit`. It stores everything together:
 * objects, due actions, and events with their deliveries.
 */
export class UnitOfWork {
  readonly mode: Mode
  readonly nowMs: number
  readonly request: UnitOfWorkOptions['request']
  readonly #store: KeyValueStore
  readonly #changes = new Map<string, string | undefined>()

  constructor({ store, mode, nowMs, request }: UnitOfWorkOptions) {
    this.#store = store
    this.mode = mode
    this.nowMs = nowMs
    this.request = request
  }

  /** Current time in Unix seconds. */
  get now(): number {
    return Math.floor(this.nowMs / 1_000)
  }

  find<Of extends Kind>(kind: Of, id: string): Records[Of] | undefined {
    const text = this.#get(this.#objectKey(kind, id))
    return text === undefined ? undefined : (JSON.parse(text) as Records[Of])
  }

  /** Returns an object. Throws Stripe's error if it does not exist. `param` is the parameter that contained the id. */
  require<Of extends Kind>(kind: Of, id: string, param?: string): Records[Of] {
    const record = this.find(kind, id)
    if (record === undefined) throw missing(kind, id, param)
    return record
  }

  /** Adds a new object, and lists it under each object to which it belongs. */
  add<Of extends Kind>(kind: Of, record: Records[Of], belongsTo: readonly string[] = []): void {
    this.put(kind, record)
    const number = this.#nextNumber()
    this.#changes.set(this.#placeKey(record.id), number)
    for (const owner of ['', ...belongsTo]) {
      this.#changes.set(`${this.#listKey(kind, owner)}${number}`, record.id)
    }
  }

  /** Adds an existing object to the list of an owner. */
  addToList(kind: Kind, id: string, owner: string): void {
    this.#changes.set(`${this.#listKey(kind, owner)}${this.#get(this.#placeKey(id))}`, id)
  }

  put<Of extends Kind>(kind: Of, record: Records[Of]): void {
    this.#changes.set(this.#objectKey(kind, record.id), JSON.stringify(record))
  }

  /** Removes an object that belongs to no other object. */
  remove(kind: Kind, id: string): void {
    const number = this.#get(this.#placeKey(id))
    this.#changes.set(this.#objectKey(kind, id), undefined)
    this.#changes.set(this.#placeKey(id), undefined)
    this.#changes.set(`${this.#listKey(kind, '')}${number}`, undefined)
  }

  /** Returns objects older than `after`, newest first. Objects that this request added are not included. */
  *list<Of extends Kind>(kind: Of, owner = '', after?: string): Iterable<Records[Of]> {
    const prefix = this.#listKey(kind, owner)
    const past = after === undefined ? undefined : prefix + this.#get(this.#placeKey(after))
    for (const [, id] of this.#store.range(prefix, 'descending', past)) {
      const record = this.find(kind, id)
      if (record !== undefined) yield record
    }
  }

  /** Schedules an action after some seconds of the simulated clock. */
  schedule(seconds: number, action: DueAction): void {
    const key = `due/${this.#afterSeconds(seconds)}/${this.#nextNumber()}`
    this.#changes.set(key, JSON.stringify({ mode: this.mode, action }))
  }

  /** Schedules a delivery after some seconds of the simulated clock. */
  scheduleDelivery(delivery: Delivery, seconds = 0): void {
    const key = `delivery/${this.#afterSeconds(seconds)}/${this.#nextNumber()}`
    this.#changes.set(key, JSON.stringify({ ...delivery, mode: this.mode }))
  }

  /** Stores another value in the same commit. */
  set(key: string, value: string | undefined): void {
    this.#changes.set(key, value)
  }

  commit(): void {
    if (this.#changes.size > 0) this.#store.commit(this.#changes)
    this.#changes.clear()
  }

  #afterSeconds(seconds: number): string {
    return String(this.nowMs + seconds * 1_000).padStart(15, '0')
  }

  #get(key: string): string | undefined {
    return this.#changes.has(key) ? this.#changes.get(key) : this.#store.get(key)
  }

  #objectKey(kind: Kind, id: string): string {
    return `object/${this.mode}/${kind}/${id}`
  }

  #placeKey(id: string): string {
    return `place/${this.mode}/${id}`
  }

  #listKey(kind: Kind, owner: string): string {
    return `list/${this.mode}/${kind}/${owner}/`
  }

  /** Returns an increasing number, so that lists are in the order of creation. */
  #nextNumber(): string {
    const number = Number(this.#get('number') ?? '0') + 1
    this.#changes.set('number', String(number))
    return String(number).padStart(15, '0')
  }
}

/** Returns the deliveries of both modes that are due at the given time, oldest first. */
export function* dueDeliveries(store: KeyValueStore, untilMs: number): Iterable<DueDelivery> {
  for (const [key, text] of store.range('delivery/', 'ascending')) {
    if (Number(key.split('/')[1]) > untilMs) return
    yield { ...(JSON.parse(text) as Omit<DueDelivery, 'key'>), key }
  }
}

const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'

/** Returns a random id, for example `pi_` followed by 24 letters and digits. */
export function newId(prefix: string): string {
  return prefix + Array.from({ length: 24 }, () => alphabet[randomInt(alphabet.length)]).join('')
}
