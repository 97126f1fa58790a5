import type { ReactElement } from 'react'
import type { Frame } from './frame.ts'
import { Page } from './page.tsx'

export type Problem = {
  readonly status: number
  readonly title: string
  readonly text: string
}

/** Ends a request with a page that says why. */
export class ProblemError extends Error {
  override readonly name = 'ProblemError'
  readonly problem: Problem
  readonly frame: Frame | undefined

  constructor(problem: Problem, frame?: Frame) {
    super(problem.title)
    this.problem = problem
    this.frame = frame
  }
}

/** Every way in which a page is refused. */
export const problems = {
  noSuchLink: {
    status: 404,
    title: 'This link is not valid',
    text: 'It may have been cut off. Open it again from where you found it.',
  },
  linkUsed: {
    status: 410,
    title: 'This link was used already',
    text: 'It opens once. Ask for a new one where you found it.',
  },
  linkExpired: {
    status: 410,
    title: 'This link has expired',
    text: 'It is good for fifteen minutes. Ask for a new one where you found it.',
  },
  checkoutDone: {
    status: 410,
    title: 'This is done already',
    text: 'The checkout was completed. You can close this window.',
  },
  signedOut: {
    status: 401,
    title: 'You are signed out',
    text: 'This page is open for a while only, to keep your account safe. Open it again from where you came.',
  },
  closed: {
    status: 200,
    title: 'You are signed out',
    text: 'You can close this window.',
  },
  notForSale: {
    status: 410,
    title: 'This is not for sale any more',
    text: 'The product or the plan is not offered at the moment.',
  },
  noPayments: {
    status: 409,
    title: 'Payments are not possible here yet',
    text: 'Nothing was charged. Please get in touch to buy this.',
  },
  paymentEnded: {
    status: 410,
    title: 'This payment has ended',
    text: 'Nothing was charged. Open the checkout again from where you came.',
  },
  paidBack: {
    status: 409,
    title: 'You get your money back',
    text: 'The payment went through, but there was nothing left to buy with it. It is being paid back to your card.',
  },
  tooManyCheckouts: {
    status: 429,
    title: 'Too many checkouts are open',
    text: 'Nothing was charged. Finish one of them, or try again in 15 minutes.',
  },
  staleForm: {
    status: 403,
    title: 'That did not come from this page',
    text: 'Nothing was changed. Go back, reload the page and try again.',
  },
  notFound: {
    status: 404,
    title: 'There is nothing here',
    text: 'The page may have moved, or what it showed is gone.',
  },
  unavailable: {
    status: 503,
    title: 'This does not work right now',
    text: 'Nothing was changed. Please try again in a minute.',
  },
  broken: {
    status: 500,
    title: 'Something went wrong on our side',
    text: 'We have made a note of it. Please try again in a minute.',
  },
} as const satisfies Record<string, Problem>

export function ProblemPage(props: {
  readonly frame: Frame
  readonly problem: Problem
  /** Where it can be tried again; '' is the same page. */
  readonly retryPath?: string | undefined
}): ReactElement {
  const { frame, problem, retryPath } = props
  return (
    <Page frame={frame} title={problem.title} narrow>
      <div className="card centred">
        <h1>{problem.title}</h1>
        <p>{problem.text}</p>
        {retryPath !== undefined && (
          <a className="button main" href={retryPath}>
            Try again
          </a>
        )}
        {frame.merchant?.supportEmail && (
          <p className="quiet">
            Questions?{' '}
            <a href={`mailto:${frame.merchant.supportEmail}`}>{frame.merchant.supportEmail}</a>
          </p>
        )}
      </div>
    </Page>
  )
}
