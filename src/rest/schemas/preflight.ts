/** The answer of a link's preflight: every check by name. */
import { type Static, Type } from 'typebox'
import { nullable } from './envelope.ts'

export const LinkPreflight = Type.Object({
  kind: Type.Literal('KafkaLinkPreflight'),
  /** No check failed; there may be warnings. */
  ok: Type.Boolean(),
  results: Type.Array(
    Type.Object({
      name: Type.String(),
      state: Type.Union([
        Type.Literal('PASSED'),
        Type.Literal('WARNING'),
        Type.Literal('FAILED'),
        Type.Literal('SKIPPED'),
      ]),
      message: Type.String(),
      hint: nullable(Type.String()),
    }),
  ),
})
export type LinkPreflight = Static<typeof LinkPreflight>
