/** Files that the build takes beside code; the compiler reads it. */
declare module '*.css'
