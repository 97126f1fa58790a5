/** Kafka's numbers of the codecs, in the attributes of a record batch. */
export const codecIds = { none: 0, gzip: 1, snappy: 2, lz4: 3, zstd: 4 } as const

export type CodecName = keyof typeof codecIds

export function codecName(id: number): CodecName | undefined {
  return (Object.keys(codecIds) as CodecName[]).find((name) => codecIds[name] === id)
}
