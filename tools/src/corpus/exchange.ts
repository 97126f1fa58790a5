/** A request with masks in place of ids and times. */
export type CorpusRequest = {
  readonly method: string
  readonly path: string
  readonly headers?: Readonly<Record<string, string>>
  /** Text of the body. JSON unless the headers name another type. */
  readonly body?: string
}

export type CorpusAnswer = {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

export type Exchange = { readonly request: CorpusRequest; readonly answer: CorpusAnswer }
