! What calls.c does, through module mpi_f08, whose functions need no error argument.
program calls_f08
  use mpi_f08
  implicit none
  integer :: rank, ranks, other, step, in, out
  type(MPI_Comm) :: one
  type(MPI_Request) :: requests(2)
  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks)
  other = mod(rank + 1, ranks)
  in = 1
  do step = 1, 10
    call MPI_Irecv(out, 1, MPI_INTEGER, other, 0, MPI_COMM_WORLD, requests(1))
    call MPI_Isend(in, 1, MPI_INTEGER, other, 0, MPI_COMM_WORLD, requests(2))
    call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE)
    in = in + out
  end do
  call MPI_Comm_split(MPI_COMM_WORLD, rank, 0, one)
  call MPI_Barrier(one)
  call MPI_Comm_free(one)
  call MPI_Reduce(in, out, 1, MPI_INTEGER, MPI_SUM, ranks - 1, MPI_COMM_WORLD)
  call MPI_Allreduce(MPI_IN_PLACE, in, 1, MPI_INTEGER, MPI_MAX, MPI_COMM_WORLD)
  call MPI_Sendrecv(in, 1, MPI_INTEGER, other, 1, out, 1, MPI_INTEGER, MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, &
                    MPI_STATUS_IGNORE)
  call MPI_Send(in, 1, MPI_INTEGER, MPI_PROC_NULL, 2, MPI_COMM_WORLD)
  call MPI_Finalize()
  if (rank == 0) print '(a, i0)', 'result ', in + out
end program
