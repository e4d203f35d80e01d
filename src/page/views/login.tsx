/** User and password, where the node wants them: the same that the API and the command line take. */
import { useSignal } from '@preact/signals'
import { logIn, loginWanted } from '../api/api-client.ts'
import { Button } from '../parts/button.tsx'
import { Notice } from '../parts/notice.tsx'

export function LoginView() {
  const user = useSignal('')
  const password = useSignal('')
  const submit = (event: Event) => {
    event.preventDefault()
    logIn(user.value, password.value)
  }
  return (
    <main class="login">
      <form class="card login-card" onSubmit={submit}>
        <h1>Log in to Lockstep</h1>
        <p class="muted">With a user of this node, or of its cluster. The login is kept for this tab.</p>
        {loginWanted.value ? <Notice tone="bad">{loginWanted.value}</Notice> : null}
        <label>
          User
          <input
            autoComplete="username"
            required
            value={user.value}
            onInput={event => (user.value = event.currentTarget.value)}
          />
        </label>
        <label>
          Password
          <input
            type="password"
            autoComplete="current-password"
            required
            value={password.value}
            onInput={event => (password.value = event.currentTarget.value)}
          />
        </label>
        <Button type="submit" tone="primary">
          Log in
        </Button>
      </form>
    </main>
  )
}
