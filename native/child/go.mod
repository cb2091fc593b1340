module fleetaudit.dev/child

go 1.26.0
