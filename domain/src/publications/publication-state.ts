import type { EntryAddress, HotState } from '@tollgate/platform/hot-state/hot-state'
import { environments, type Environment } from '@tollgate/schemas/environment'
import {
  publicationsProgressKey,
  publicationsStartKey,
  publicationsSubject,
  publishedSince,
  type PublicationsProgress,
  type PublicationsStart,
} from '@tollgate/schemas/hot-state/publications'
import type { PublisherParts } from './publisher-parts.ts'

type StateParts = Pick<PublisherParts, 'hotState' | 'partitionCount'>

/** What the hot state says of what was published there. */
export type PublicationState = {
  readonly incarnation: string
  /** Of the last start; undefined when that was lost, or its queue never finished: nothing can be said. */
  readonly progress: PublicationsProgress | undefined
  /** Environments in which some partition has lost its entries since. */
  readonly torn: readonly Environment[]
}

export async function readPublicationState(parts: StateParts): Promise<PublicationState> {
  const { hotState } = parts
  const [start, progress, incarnation] = await Promise.all([
    readJson<PublicationsStart>(hotState, publicationsStartKey),
    readJson<PublicationsProgress>(hotState, publicationsProgressKey),
    hotState.incarnation(),
  ])
  const since = publishedSince(start, progress, incarnation)
  return {
    incarnation,
    progress: since,
    torn: since === undefined ? [] : await listTorn(parts, since.id),
  }
}

async function listTorn(parts: StateParts, id: string): Promise<Environment[]> {
  const torn: Environment[] = []
  for (const environment of environments) {
    const documents = await Promise.all(
      witnessesOf(parts, environment).map(async (at) => parts.hotState.readEntryDocument(at)),
    )
    if (documents.some((document) => document !== id)) torn.push(environment)
  }
  return torn
}

/** Puts down what will be lost together with anything that is published from now on. */
export async function writeStart(parts: StateParts, start: PublicationsStart): Promise<void> {
  const entry = { version: 1, document: start.id, windows: [] }
  const witnesses = environments.flatMap((environment) => witnessesOf(parts, environment))
  await Promise.all(witnesses.map((at) => parts.hotState.putEntry(at, entry)))
  await parts.hotState.putDocument(publicationsStartKey, JSON.stringify(start))
}

export async function writeProgress(
  { hotState }: Pick<StateParts, 'hotState'>,
  progress: PublicationsProgress,
): Promise<void> {
  await hotState.putDocument(publicationsProgressKey, JSON.stringify(progress))
}

function witnessesOf({ partitionCount }: StateParts, environment: Environment): EntryAddress[] {
  return Array.from({ length: partitionCount(environment) }, (_, partition) => ({
    space: environment,
    partition,
    subject: publicationsSubject,
    scope: '',
  }))
}

async function readJson<Document>(
  hotState: Pick<HotState, 'readDocument'>,
  key: string,
): Promise<Document | undefined> {
  const document = await hotState.readDocument(key)
  return document === undefined ? undefined : (JSON.parse(document) as Document)
}
