import type { ReactElement } from 'react'
import type { Frame } from './frame.ts'
import { Page } from './page.tsx'

/** A problem page. Its title and text are the texts `<name>Title` and `<name>Text` of the shared catalog. */
export type Problem = { readonly status: number; readonly name: ProblemName }

/** Ends a request with a page that explains the problem. */
export class ProblemError extends Error {
  override readonly name = 'ProblemError'
  readonly problem: Problem
  readonly frame: Frame | undefined

  constructor(problem: Problem, frame?: Frame) {
    super(problem.name)
    this.problem = problem
    this.frame = frame
  }
}

/** All problem pages. */
export const problems = {
  noSuchLink: { status: 404, name: 'noSuchLink' },
  linkUsed: { status: 410, name: 'linkUsed' },
  linkExpired: { status: 410, name: 'linkExpired' },
  checkoutDone: { status: 410, name: 'checkoutDone' },
  signedOut: { status: 401, name: 'signedOut' },
  closed: { status: 200, name: 'closed' },
  notForSale: { status: 410, name: 'notForSale' },
  noPayments: { status: 409, name: 'noPayments' },
  paymentEnded: { status: 410, name: 'paymentEnded' },
  paidBack: { status: 409, name: 'paidBack' },
  tooManyCheckouts: { status: 429, name: 'tooManyCheckouts' },
  signInEnded: { status: 410, name: 'signInEnded' },
  mailUnavailable: { status: 503, name: 'mailUnavailable' },
  tooManyAttempts: { status: 429, name: 'tooManyAttempts' },
  connectEnded: { status: 410, name: 'connectEnded' },
  otherCustomer: { status: 403, name: 'otherCustomer' },
  staleForm: { status: 403, name: 'staleForm' },
  notFound: { status: 404, name: 'notFound' },
  unavailable: { status: 503, name: 'unavailable' },
  /** Like `unavailable`, for a page that changes nothing. */
  unreadable: { status: 503, name: 'unreadable' },
  /** The customer's test clock advances. */
  clockAdvancing: { status: 409, name: 'clockAdvancing' },
  broken: { status: 500, name: 'broken' },
} as const

type ProblemName = keyof typeof problems

export function ProblemPage(props: {
  readonly frame: Frame
  readonly problem: Problem
  /** Path at which the visitor can try again. The empty string is the same page. */
  readonly retryPath?: string | undefined
}): ReactElement {
  const { frame, problem, retryPath } = props
  const { t, merchant } = frame
  const title = t(`shared:${problem.name}Title`)
  const address = merchant?.supportEmail
  return (
    <Page frame={frame} title={title} narrow>
      <div className="card centred">
        <h1>{title}</h1>
        <p>{t(`shared:${problem.name}Text`)}</p>
        {retryPath !== undefined && (
          <a className="button main" href={retryPath}>
            {t('shared:tryAgain')}
          </a>
        )}
        {address !== undefined && address !== null && (
          <p className="quiet">
            {t.rich('shared:questions', { address: <a href={`mailto:${address}`}>{address}</a> })}
          </p>
        )}
      </div>
    </Page>
  )
}
