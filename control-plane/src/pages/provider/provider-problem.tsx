import type { ReactElement } from 'react'
import { ProviderPage, type ProviderFrame } from './provider-page.tsx'

type ProviderProblem = {
  readonly status: number
  readonly title: string
  readonly text: string
  /** Link with which the visitor can continue, below the base path. */
  readonly link?: { readonly path: string; readonly label: string }
}

/** Ends a request with a page that explains the problem. */
export class ProviderProblemError extends Error {
  override readonly name = 'ProviderProblemError'
  readonly problem: ProviderProblem

  constructor(problem: ProviderProblem) {
    super(problem.title)
    this.problem = problem
  }
}

const toSignIn = { path: '/console/sign-in', label: 'Sign in' }

/** All problem pages for providers. */
export const providerProblems = {
  notFound: {
    status: 404,
    title: 'There is nothing here',
    text: 'The address may be cut off or mistyped.',
    link: { path: '/', label: 'Start page' },
  },
  noCliSession: {
    status: 404,
    title: 'This link is not valid',
    text: 'It may be cut off, or too old. Start again in your terminal.',
  },
  cliSessionExpired: {
    status: 410,
    title: 'This link has expired',
    text: 'It is valid for 10 minutes. Start again in your terminal.',
  },
  cliSessionAnswered: {
    status: 410,
    title: 'This request was answered',
    text: 'It can be answered once. If your terminal has no key, start again there.',
  },
  roleTooLow: {
    status: 403,
    title: 'Your role does not allow this',
    text: 'A secret key is issued by an owner or an admin. Send the link in your terminal to one of them.',
  },
  signedOut: {
    status: 401,
    title: 'You are signed out',
    text: 'Nothing was changed. Sign in and try again.',
    link: toSignIn,
  },
  staleForm: {
    status: 403,
    title: 'This form is out of date',
    text: 'Nothing was changed. Go back, reload the page and try again.',
  },
  consoleNotBuilt: {
    status: 503,
    title: 'The console is not built',
    text: 'Run `node deploy/prepare.mjs` in the folder of Tollgate, and start the control plane again.',
  },
  unavailable: {
    status: 503,
    title: 'This does not work right now',
    text: 'Nothing was changed. Try again in a minute.',
  },
  broken: {
    status: 500,
    title: 'Something went wrong on our side',
    text: 'The error is in the log of the control plane. Try again in a minute.',
  },
} as const satisfies Record<string, ProviderProblem>

export function ProviderProblemPage(props: {
  readonly frame: ProviderFrame
  readonly problem: ProviderProblem
}): ReactElement {
  const { frame, problem } = props
  const { title, text, link } = problem
  return (
    <ProviderPage frame={frame} title={title} narrow>
      <div className="card centred">
        <h1>{title}</h1>
        <p>{text}</p>
        {link !== undefined && (
          <a className="button main" href={frame.basePath + link.path}>
            {link.label}
          </a>
        )}
      </div>
    </ProviderPage>
  )
}
