"""Compiling with Numba: every use of Numba's internals is in this package.

keys      names compiled code by the contents of all that it was made from
cache     where compiled code lies on disk
types     the contract's signatures as Numba types
library   machine code that is made once for each loop or rule, when it is needed
dispatch  compiling functions, one form each
calls     running loops and rules from Python
inspect   what lies in the cache, and what is out of date there
work      compiling ahead, in several processes, or in the background
"""
