import type { ReactElement } from 'react'
import type { Provider } from '@tollgate/domain/providers/repository'
import { passwordCharsMax } from '@tollgate/schemas/limits'
import type { Notice } from '../notice.tsx'
import type { ProviderFrame } from '../provider/provider-page.tsx'
import { FormPage } from './form-page.tsx'

export type SignInPageProps = {
  readonly frame: ProviderFrame
  readonly formToken: string
  readonly notice?: Notice | undefined
  readonly email?: string | undefined
  /** Providers from which the user must choose one. If empty, the user has no choice to make. */
  readonly providers?: readonly Provider[]
  /** The CLI session with which the user continues after the sign-in. */
  readonly cliSessionId?: string | undefined
  /** The page of the console with which the user continues after the sign-in. */
  readonly next?: string | undefined
}

export const signInPath = '/console/sign-in'

export function SignInPage(props: SignInPageProps): ReactElement {
  const { frame, formToken, notice, email = '', providers = [], cliSessionId, next } = props
  return (
    <FormPage frame={frame} title="Sign in" notice={notice} path={signInPath} formToken={formToken}>
      {cliSessionId !== undefined && (
        <>
          <p className="quiet">After that you see which device asks for a secret key.</p>
          <input type="hidden" name="cli" value={cliSessionId} />
        </>
      )}
      {next !== undefined && <input type="hidden" name="next" value={next} />}
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
      {providers.length > 0 && (
        <label>
          Provider
          <select name="providerId">
            {providers.map(({ providerId, name }) => (
              <option key={providerId} value={providerId}>
                {name}
              </option>
            ))}
          </select>
        </label>
      )}
      <button className="button main" type="submit">
        Sign in
      </button>
    </FormPage>
  )
}
