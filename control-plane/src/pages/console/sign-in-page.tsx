import type { ReactElement } from 'react'
import type { Provider } from '@tollgate/domain/providers/repository'
import { passwordCharsMax } from '@tollgate/schemas/limits'
import type { Notice } from '../notice.tsx'
import type { ProviderFrame } from '../provider/provider-page.tsx'
import { signInPath } from './paths.ts'
import { ContinuationFields } from './continuation-fields.tsx'
import type { Continuation } from './continuation.ts'
import { FormPage } from './form-page.tsx'
import { OpenidForm } from './openid-pages.tsx'
import { ProviderSelect } from './provider-select.tsx'

export type SignInPageProps = {
  readonly frame: ProviderFrame
  readonly formToken: string
  readonly notice?: Notice | undefined
  readonly email?: string | undefined
  /** Providers from which the user must choose one. If empty, the user has no choice to make. */
  readonly providers?: readonly Provider[]
  readonly continuation: Continuation
  /** Name of the OpenID Connect issuer of the console. Undefined if there is none. */
  readonly openidLabel: string | undefined
}

export function SignInPage(props: SignInPageProps): ReactElement {
  const { frame, formToken, notice, email = '', providers = [], continuation, openidLabel } = props
  return (
    <FormPage
      frame={frame}
      title="Sign in"
      notice={notice}
      path={signInPath}
      formToken={formToken}
      below={
        openidLabel !== undefined && (
          <OpenidForm
            frame={frame}
            formToken={formToken}
            continuation={continuation}
            label={openidLabel}
          />
        )
      }
    >
      {continuation.cliSessionId !== undefined && (
        <p className="quiet">After that you see which device asks for a secret key.</p>
      )}
      <ContinuationFields of={continuation} />
      <label>
        Email address
        <input
          name="email"
          type="email"
          required
          autoComplete="username"
          defaultValue={email}
          autoFocus={notice === undefined && email === ''}
        />
      </label>
      <label>
        Password
        <input
          name="password"
          type="password"
          required
          maxLength={passwordCharsMax}
          autoComplete="current-password"
          autoFocus={notice === undefined && email !== ''}
        />
      </label>
      {providers.length > 0 && <ProviderSelect providers={providers} />}
      <button className="button main" type="submit">
        Sign in
      </button>
    </FormPage>
  )
}
